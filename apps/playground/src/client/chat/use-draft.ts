import { useCallback, useState } from 'react';

/** The text of a message field, which outlives a reload and another session on the screen. */
export function useDraft(name: string): [text: string, setText: (text: string) => void] {
  const key = `draft/${name}`;
  const [text, setText] = useState(() => sessionStorage.getItem(key) ?? '');
  const save = useCallback(
    (next: string) => {
      setText(next);
      try {
        if (next === '') sessionStorage.removeItem(key);
        else sessionStorage.setItem(key, next);
      } catch {
        // The text is larger than what the browser stores: it does not outlive a reload.
      }
    },
    [key],
  );
  return [text, save];
}
