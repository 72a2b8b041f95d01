import type { ReactNode } from 'react';

interface SectionProps {
  readonly title: string;
  readonly count: number;
  readonly children: ReactNode;
}

/** A part of the state that can be folded away. */
export function Section({ title, count, children }: SectionProps) {
  return (
    <details className="section" open>
      <summary>
        <h3>{title}</h3> <span className="count">{count}</span>
      </summary>
      {children}
    </details>
  );
}
