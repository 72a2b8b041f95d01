import type { ReactNode } from 'react';

interface NoticeProps {
  readonly tone: 'bad' | 'warn';
  readonly children: ReactNode;
  /** A button with the remedy. */
  readonly action?: ReactNode;
}

/** A message to the user, above the message field. */
export function Notice({ tone, children, action }: NoticeProps) {
  return (
    <div className="notice" data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <p>{children}</p>
      {action}
    </div>
  );
}
