import { useMemo } from 'react';
import type { App, RuleSummary } from '../../api/browse.ts';
import { fitsLink, goTo, linkTo, type Place } from '../../state/location.ts';
import { chooseLanguage, chooseTheme, type Theme, useTheme } from '../../state/preferences.ts';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Combobox, type Option } from '../../ui/combobox.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import type { IconName } from '../../ui/icon.tsx';
import { IconButton } from '../../ui/icon.tsx';
import { modifierKey } from '../../ui/keys.ts';
import { ClientCount } from '../clients/clients.tsx';
import type { Input } from '../input/use-input.ts';
import type { RuleContext } from './use-rule.ts';

type Props = {
  place: Place;
  rule: RuleContext;
  input: Input;
  /** Whether the form is not what the run on the screen was. */
  changed: boolean;
  onHelp: () => void;
  onFind: () => void;
  onSkip: () => void;
  signOut: (() => void) | null;
};

/** The chosen app and rule, the clients, and the look of the page. */
export function Header({ place, rule, input, changed, onHelp, onFind, onSkip, signOut }: Props) {
  const { say } = useText();
  return (
    <header className="top line">
      <Button label={say('nav.skip')} className="skip-head button" onPress={onSkip} />
      <h1 className="line">
        <img src="/favicon.svg" alt="" width={22} height={22} />
        <span>{say('title')}</span>
      </h1>
      <AppPicker place={place} apps={rule.apps.data ?? []} />
      <RulePicker place={place} rules={rule.rules.data?.rules ?? []} />
      {place.ruleId !== null && place.confId !== null && (
        <span className="scope">
          {say('pick.node', { id: place.confId })}
          <IconButton
            icon="close"
            label={say('pick.node.clear')}
            onPress={() => goTo({ confId: null, run: null }, { push: true })}
          />
        </span>
      )}
      {rule.version !== null && (
        <span className="version muted" title={say('header.version.hint')}>
          {say('header.version', { version: rule.version })}
        </span>
      )}
      <ClientCount rule={rule} />
      <div className="top-actions">
        <IconButton icon="search" label={say('find.open', { keys: `${modifierKey()} K` })} onPress={onFind} />
        <LinkButton place={place} input={input} changed={changed} />
        <LanguageButton />
        <ThemeButton />
        <IconButton icon="keyboard" label={say('header.help')} onPress={onHelp} />
        {signOut && <IconButton icon="exit" label={say('header.signOut')} onPress={signOut} />}
      </div>
    </header>
  );
}

function LinkButton({ place, input: { text, read }, changed }: { place: Place; input: Input; changed: boolean }) {
  const { say } = useText();
  const fits = useMemo(() => fitsLink(text, read), [text, read]);
  // A link to a run has that run's input. Once the form has another one, the link is to the form.
  const linked =
    place.run !== null && !changed ? place : { ...place, run: null, runs: changed ? [] : place.runs, input: text };
  const toForm = changed ? 'link.toForm' : 'link.copied';
  const done = linked.run !== null ? 'link.toRun' : fits ? toForm : 'link.withoutInput';
  return (
    <CopyButton
      icon="link"
      label={say('link.copy')}
      done={say(done)}
      // The address bar is a moment behind what is typed.
      text={() => linkTo(linked)}
      quiet
    />
  );
}

function AppPicker({ place, apps }: { place: Place; apps: readonly App[] }) {
  const { say } = useText();
  const titleOf = (app: string) => apps.find((known) => known.app === app)?.name ?? `${say('header.app')} ${app}`;
  return (
    <div className="app-picker">
      <Combobox
        label={say('header.app')}
        shown={place.app === null ? '' : titleOf(place.app)}
        placeholder={say('pick.app.placeholder')}
        options={apps.map(({ app, name }) => ({
          id: app,
          title: titleOf(app),
          detail: name === null ? undefined : `${say('header.app')} ${app}`,
        }))}
        chosen={place.app}
        custom={(typed) => numberOption(typed, say('pick.use', { id: typed }))}
        nothing={say('pick.none')}
        onChoose={(app) =>
          goTo(
            { app, ruleId: null, confId: null, target: { kind: 'all' }, run: null, runs: [], input: null },
            { push: true },
          )
        }
      />
    </div>
  );
}

function RulePicker({ place, rules }: { place: Place; rules: RuleSummary[] }) {
  const { say } = useText();
  const titleOf = ({ ruleId, name }: RuleSummary) => name ?? say('rule.unnamed', { id: ruleId });
  const known = rules.find(({ ruleId }) => ruleId === place.ruleId);
  const title = known ? titleOf(known) : say('rule.unnamed', { id: place.ruleId ?? '' });
  const shown =
    place.ruleId === null
      ? place.confId === null
        ? ''
        : say('pick.node', { id: place.confId })
      : `#${place.ruleId}  ${title}`;
  return (
    <div className="rule-picker">
      <Combobox
        label={say('nav.rule')}
        shown={shown}
        placeholder={say('pick.rule.placeholder')}
        options={rules.map((rule) => ({
          id: rule.ruleId,
          title: titleOf(rule),
          detail: [`#${rule.ruleId}`, rule.folder, ...(rule.status === '0' ? [say('rule.offline')] : [])]
            .filter(Boolean)
            .join(' · '),
          dimmed: rule.status === '0',
        }))}
        chosen={place.ruleId}
        custom={(typed) => numberOption(typed, say('pick.use', { id: typed }))}
        nothing={say('pick.none')}
        onChoose={(ruleId) =>
          goTo({ ruleId, confId: null, ts: null, run: null, runs: [], input: null }, { push: true })
        }
      />
    </div>
  );
}

function numberOption(typed: string, title: string): Option | null {
  return /^[1-9]\d{0,18}$/.test(typed) ? { id: typed, title } : null;
}

function LanguageButton() {
  const { say, language } = useText();
  return (
    <Button
      label={say('header.language')}
      className="icon-button word"
      lang={language === 'zh' ? 'en' : 'zh-CN'}
      title={say('header.language.hint')}
      onPress={() => chooseLanguage(language === 'zh' ? 'en' : 'zh')}
    />
  );
}

const themes: Record<Theme, { next: Theme; icon: IconName }> = {
  system: { next: 'light', icon: 'screen' },
  light: { next: 'dark', icon: 'sun' },
  dark: { next: 'system', icon: 'moon' },
};

function ThemeButton() {
  const { say } = useText();
  const theme = useTheme();
  const { icon, next } = themes[theme];
  return <IconButton icon={icon} label={say(`header.theme.${theme}`)} onPress={() => chooseTheme(next)} />;
}
