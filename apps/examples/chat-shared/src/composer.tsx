import type { ReactNode } from 'react';

interface ComposerProps {
  readonly onSend: (text: string) => void;
}

/** A field for a message of the user. */
export function Composer({ onSend }: ComposerProps): ReactNode {
  return (
    <form action={(data) => onSend(data.get('text') as string)}>
      <input name="text" aria-label="Message" required />
      <button>Send</button>
    </form>
  );
}
