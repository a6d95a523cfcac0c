import { useEffect, useState } from 'react';

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
