import { useEffect, useLayoutEffect, useRef, type KeyboardEvent } from 'react';
import { useDraft } from './use-draft.ts';

interface ComposerProps {
  /** The name of the draft: the session. */
  readonly draft: string;
  /** True while the server does not have the last message. */
  readonly isSending: boolean;
  /** Sends a message; true as soon as the server has it. */
  readonly onSend: (text: string) => Promise<boolean>;
  /** Absent without a run to stop. */
  readonly onStop: (() => void) | undefined;
}

/** The first message opens another screen, whose message field then gets the focus. */
let hasWritten = false;

/** The message field. It keeps the text until the server has the message. */
export function Composer({ draft, isSending, onSend, onStop }: ComposerProps) {
  const [text, setText] = useDraft(draft);
  const field = useRef<HTMLTextAreaElement>(null);
  const canSend = !isSending && text.trim() !== '';
  useEffect(() => fit(field.current), [text]);
  useEscape(onStop);
  useEffect(() => {
    if (hasWritten) field.current?.focus({ preventScroll: true });
  }, []);
  const send = async () => {
    if (!canSend) return;
    hasWritten = true;
    if (await onSend(text.trim())) setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
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
        readOnly={isSending}
        aria-busy={isSending}
        placeholder="Write to the agent…"
        aria-describedby="message-hint"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="composer-buttons">
        {onStop && (
          <button type="button" className="button stop" onClick={onStop}>
            Stop
          </button>
        )}
        {(!onStop || text.trim() !== '') && (
          <button type="submit" className="button primary" disabled={!canSend}>
            {isSending ? 'Sending…' : 'Send'}
          </button>
        )}
      </div>
      <p id="message-hint" className="hint">
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> begins a line, <kbd>Esc</kbd> stops a run
      </p>
    </form>
  );
}

/** A run can be stopped from wherever the focus is, as soon as the page shows that it can. */
function useEscape(onStop: (() => void) | undefined): void {
  useLayoutEffect(() => {
    if (onStop === undefined) return;
    const onKeyDown = (event: globalThis.KeyboardEvent) => {
      if (event.key === 'Escape') onStop();
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  });
}

/** As high as the text needs, within the limit that the style sets. */
function fit(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}
