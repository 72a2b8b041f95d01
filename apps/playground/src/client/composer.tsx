import { useEffect, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';

interface ComposerProps {
  readonly isRunning: boolean;
  readonly onSend: (text: string) => void;
  /** Absent without a run to stop. */
  onStop?: () => void;
}

/** The first message opens another screen, whose message field then gets the focus. */
let hasWritten = false;

/** The message field. Enter sends, Shift+Enter begins a line, Escape stops the run. */
export function Composer({ isRunning, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const canSend = !isRunning && text.trim() !== '';
  useEffect(() => fit(field.current), [text]);
  useEffect(() => {
    if (hasWritten) field.current?.focus({ preventScroll: true });
  }, []);
  const send = () => {
    if (!canSend) return;
    hasWritten = true;
    onSend(text.trim());
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label className="visually-hidden" htmlFor="message">
        Message
      </label>
      <textarea
        id="message"
        ref={field}
        rows={1}
        value={text}
        placeholder="Write to the agent…"
        aria-describedby="message-hint"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      {isRunning && onStop ? (
        <button type="button" className="button stop" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit" className="button primary" disabled={!canSend}>
          Send
        </button>
      )}
      <p id="message-hint" className="hint">
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> begins a line, <kbd>Esc</kbd> stops a run
      </p>
    </form>
  );
}

/** As high as the text needs, within the limit that the style sets. */
function fit(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}
