import type { ReactNode } from 'react';

interface NoticeProps {
  readonly tone: 'bad' | 'warn';
  readonly children: ReactNode;
  /** What can be done about it. */
  readonly action?: ReactNode;
}

/** Something to know about, above the message field. */
export function Notice({ tone, children, action }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <p>{children}</p>
      {action}
    </div>
  );
}
