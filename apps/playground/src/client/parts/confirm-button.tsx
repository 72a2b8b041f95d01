import { useEffect, useState } from 'react';

interface ConfirmButtonProps {
  readonly label: string;
  /** The question of the button after the first press. */
  readonly question: string;
  readonly isDisabled: boolean;
  readonly onConfirm: () => void;
}

/** A button for an irreversible action: it must be pressed twice. */
export function ConfirmButton({ label, question, isDisabled, onConfirm }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    if (!isAsking) return;
    const timer = setTimeout(() => setAsking(false), 4000);
    return () => clearTimeout(timer);
  }, [isAsking]);
  return (
    <button
      type="button"
      className={isAsking ? 'button small danger' : 'button small'}
      disabled={isDisabled}
      onBlur={() => setAsking(false)}
      onClick={() => (isAsking ? onConfirm() : setAsking(true))}
    >
      {isAsking ? question : label}
    </button>
  );
}
