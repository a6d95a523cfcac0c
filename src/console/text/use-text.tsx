import { createContext, Fragment, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { format, type Parameters, partsOf, type Template, templateFor } from '../../shared/reasoning/words/format.ts';
import { type Failure, failureOf, serviceNow, Unreachable } from '../api/request.ts';
import { type Language, useLanguage, useZone } from '../state/preferences.ts';
import { formatMoment, formatTime } from './durations.ts';
import { en, type TextKey } from './en.ts';

type Dictionary = Readonly<Record<TextKey, Template>>;
/** A parameter `error` is a failure that the service tells of, or a text that stays as it is. */
export type SayParameters = { error?: string | Failure; [name: string]: string | number | Failure | undefined };
export type Say = (key: TextKey, parameters?: SayParameters) => string;

/** The words of a language, and how a failure of the service reads in it. */
type Words = { language: Language; dictionary: Dictionary; ofService: (failure: Failure) => string };

/** `zone`: the time zone in which all times are shown. */
type Text = Words & {
  zone: string;
  /** A time of day, with the date when it is another day's. */
  time: (at: number) => string;
  /** A moment that a rule ran as of, or has in its settings, with the offset of the zone. */
  moment: (ms: string) => string;
  say: Say;
  /** Why something failed, of whatever was thrown. */
  failed: (error: unknown) => string;
  /** The same as `say` for a template that a part of the page brings itself. */
  fill: (template: Template, parameters?: SayParameters) => string;
};

const ENGLISH: Words = { language: 'en', dictionary: en, ofService: ({ error }) => error };

const TextContext = createContext<Text>(textIn(ENGLISH, 'UTC'));

function textIn(words: Words, zone: string): Text {
  const { dictionary, ofService } = words;
  const count = new Intl.NumberFormat(words.language).format;
  const fill = (template: Template, parameters: SayParameters = {}) =>
    format(template, toldIn(parameters, ofService), count);
  const reader = { language: words.language, zone };
  const time = (at: number) => formatTime(at, serviceNow(), reader);
  const moment = (ms: string) => formatMoment(ms, reader);
  const failed = (error: unknown) => {
    if (error instanceof Unreachable) return fill(dictionary['failed.unreachable']);
    return ofService(failureOf(error));
  };
  return { ...words, zone, time, moment, fill, failed, say: (key, parameters) => fill(dictionary[key], parameters) };
}

function toldIn(parameters: SayParameters, ofService: Words['ofService']): Parameters {
  const told: Parameters = {};
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) told[name] = typeof value === 'object' ? ofService(value) : value;
  return told;
}

/** Gives everything below it the chosen language. The page waits for its words rather than flashing up in another language. */
export function TextProvider({ children }: { children: ReactNode }) {
  const language = useLanguage();
  const zone = useZone();
  const [loaded, setLoaded] = useState(ENGLISH);
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
    if (language === 'en') return setLoaded(ENGLISH);
    let wanted = true;
    Promise.all([import('./zh.ts'), import('./zh/reasons.ts'), import('../../shared/reasons/words.ts')]).then(
      ([{ zh }, { chinese }, { sentenceOf }]) => {
        const ofService = ({ error, reason, ...why }: Failure) =>
          reason !== null && Object.hasOwn(chinese.reasons, reason) ? sentenceOf({ reason, ...why }, chinese) : error;
        if (wanted) setLoaded({ language, dictionary: zh, ofService });
      },
      () => {}, // the words could not be fetched: English is better than nothing
    );
    return () => {
      wanted = false;
    };
  }, [language]);
  const text = useMemo(() => textIn(loaded, zone), [loaded, zone]);
  return <TextContext value={text}>{children}</TextContext>;
}

export function useText(): Text {
  return useContext(TextContext);
}

type SentenceProps = { text: TextKey; with?: Parameters; parts?: Record<string, ReactNode> };

/** A sentence some of whose names are elements: a link, a value in type of its own. */
export function Sentence({ text, with: parameters = {}, parts = {} }: SentenceProps) {
  const { dictionary } = useText();
  const pieces = partsOf(templateFor(dictionary[text], parameters));
  return pieces.map((piece, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of one template never change places
    <Fragment key={index}>{typeof piece === 'string' ? piece : (parts[piece.name] ?? parameters[piece.name])}</Fragment>
  ));
}
