import { useState } from 'react';
import { Elapsed } from '../parts/elapsed.tsx';

/** A sign of life while nothing else moves, and since when. */
export function Waiting({ label }: { readonly label: string }) {
  const [since] = useState(Date.now);
  return (
    <p className="thinking">
      {label} <Elapsed since={since} />
    </p>
  );
}
