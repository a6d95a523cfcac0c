import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';

type Announce = { announce: (sentence: string) => void };

const AnnounceContext = createContext<Announce>({ announce: () => {} });

const SHOWN_MS = 2600;

/** Short news for everybody: shown for a moment at the foot of the page and read out by screen readers. */
export function AnnounceProvider({ children }: { children: ReactNode }) {
  const [news, setNews] = useState<{ sentence: string; count: number }>({ sentence: '', count: 0 });
  const announce = useCallback((sentence: string) => setNews(({ count }) => ({ sentence, count: count + 1 })), []);
  useEffect(() => {
    if (news.sentence === '') return;
    const timer = setTimeout(() => setNews(({ count }) => ({ sentence: '', count })), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [news]);
  const value = useMemo(() => ({ announce }), [announce]);
  return (
    <AnnounceContext value={value}>
      {children}
      <div className="news" role="status" aria-live="polite">
        {news.sentence !== '' && <span key={news.count}>{news.sentence}</span>}
      </div>
    </AnnounceContext>
  );
}

export function useAnnounce(): Announce['announce'] {
  return useContext(AnnounceContext).announce;
}
