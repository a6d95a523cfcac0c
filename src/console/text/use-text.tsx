import { createContext, Fragment, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { format, type Parameters, partsOf, type Template, templateFor } from '../../shared/reasoning/format.ts';
import { type Language, useLanguage, useZone } from '../state/preferences.ts';
import { en, type TextKey } from './en.ts';

type Dictionary = Readonly<Record<TextKey, Template>>;
export type Say = (key: TextKey, parameters?: Parameters) => string;

/** `zone`: the time zone that times of rules are told in. */
type Text = { language: Language; zone: string; dictionary: Dictionary; say: Say };

const TextContext = createContext<Text>(textIn('en', en, 'UTC'));

function textIn(language: Language, dictionary: Dictionary, zone: string): Text {
  return { language, zone, dictionary, say: (key, parameters = {}) => format(dictionary[key], parameters) };
}

/** Gives everything below it the chosen language. The page waits for its words rather than flashing up in another language. */
export function TextProvider({ children }: { children: ReactNode }) {
  const language = useLanguage();
  const zone = useZone();
  const [loaded, setLoaded] = useState<{ language: Language; dictionary: Dictionary }>({
    language: 'en',
    dictionary: en,
  });
  useEffect(() => {
    document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
    if (language === 'en') return setLoaded({ language, dictionary: en });
    let wanted = true;
    import('./zh.ts').then(
      ({ zh }) => wanted && setLoaded({ language, dictionary: zh }),
      () => {}, // the words could not be fetched: English is better than nothing
    );
    return () => {
      wanted = false;
    };
  }, [language]);
  const text = useMemo(() => textIn(loaded.language, loaded.dictionary, zone), [loaded, zone]);
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
