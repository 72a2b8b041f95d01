import { useEffect, useState } from 'react';
import { seconds } from '../format.ts';

interface ElapsedProps {
  /** Milliseconds since 1970. */
  readonly since: number;
  /** Seconds that were counted before. */
  readonly before?: number;
}

/** The seconds since a moment, as they pass. Not announced: a reader would hear nothing else. */
export function Elapsed({ since, before = 0 }: ElapsedProps) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return <span aria-hidden="true">{seconds(before + Math.max(0, now - since) / 1000)}</span>;
}
