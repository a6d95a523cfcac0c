import { useEffect, useState } from 'react';
import { serviceNow } from '../../api/service-clock.ts';

const TICK_MS = 100;

/** The time, going on as long as it is looked at. */
export function useNow(ticking: boolean): number {
  const [now, setNow] = useState(serviceNow);
  useEffect(() => {
    if (!ticking) return;
    setNow(serviceNow());
    const timer = setInterval(() => setNow(serviceNow()), TICK_MS);
    return () => clearInterval(timer);
  }, [ticking]);
  return now;
}

/** Whether something has been going on for longer than `ms`. */
export function useLongerThan(goesOn: boolean, ms: number): boolean {
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    setIsLong(false);
    if (!goesOn) return;
    const timer = setTimeout(() => setIsLong(true), ms);
    return () => clearTimeout(timer);
  }, [goesOn, ms]);
  return goesOn && isLong;
}
