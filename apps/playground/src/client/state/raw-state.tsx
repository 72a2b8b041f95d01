import { useEffect, useState } from 'react';
import type { SessionView } from '../../view/session-view.ts';
import { fetchRaw } from '../api.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { JsonView } from '../parts/json-view.tsx';

/** The whole document as the store returns it. It is loaded only while the section is open, and again after each save. */
export function RawState({ view: { sessionId, version } }: { readonly view: SessionView }) {
  const [isOpen, setOpen] = useState(false);
  const [raw, setRaw] = useState<unknown>();
  useEffect(() => {
    if (!isOpen) return;
    let isWanted = true;
    fetchRaw(sessionId).then(
      (found) => isWanted && setRaw(found),
      () => undefined,
    );
    return () => void (isWanted = false);
  }, [isOpen, sessionId, version]);
  return (
    <details className="section" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <h3>Raw state</h3> <span className="count">JSON</span>
      </summary>
      {raw !== undefined && (
        <>
          <p className="raw-tools">
            <CopyButton text={JSON.stringify(raw, null, 2)} what="raw state" />
          </p>
          <JsonView value={raw} openLevels={3} />
        </>
      )}
    </details>
  );
}
