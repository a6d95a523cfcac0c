import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import type { TextKey } from '../text/en.ts';
import { useText } from '../text/use-text.tsx';
import { Icon } from './icon.tsx';

type Announce = (sentence: string) => void;

const AnnounceContext = createContext<Announce>(() => {});

const SHOWN_MS = 2600;
/** As long as it takes to read a longer one. */
const LETTER_MS = 60;

/** Short news for everybody: shown for a moment at the foot of the page and read out by screen readers. */
export function AnnounceProvider({ children }: { children: ReactNode }) {
  const [news, setNews] = useState<{ sentence: string; count: number }>({ sentence: '', count: 0 });
  const announce = useCallback((sentence: string) => setNews(({ count }) => ({ sentence, count: count + 1 })), []);
  useEffect(() => {
    if (news.sentence === '') return;
    const timer = setTimeout(
      () => setNews(({ count }) => ({ sentence: '', count })),
      Math.max(SHOWN_MS, news.sentence.length * LETTER_MS),
    );
    return () => clearTimeout(timer);
  }, [news]);
  return (
    <AnnounceContext value={announce}>
      {children}
      <div className="news" role="status" aria-live="polite">
        {news.sentence !== '' && <span key={news.count}>{news.sentence}</span>}
      </div>
    </AnnounceContext>
  );
}

export const useAnnounce = (): Announce => useContext(AnnounceContext);

/** Says why what somebody pressed did not happen. */
export function useFailed(): (error: unknown) => void {
  const announce = useAnnounce();
  const { failed } = useText();
  return useCallback((error) => announce(failed(error)), [announce, failed]);
}

/** Warnings, one below the other. A screen reader tells them when they appear. */
export function NoticeLines({ className, lines }: { className: string; lines: readonly string[] }) {
  return (
    <div className={className} role="status">
      {lines.map((line) => (
        <p className="notice warn" key={line}>
          <Icon name="warning" size={14} /> {line}
        </p>
      ))}
    </div>
  );
}

/** Something is being fetched, in words; drawn only when it takes long enough to wonder. */
export function Loading({ text }: { text: TextKey }) {
  const { say } = useText();
  return (
    <p className="loading" role="status">
      {say(text)}
    </p>
  );
}
