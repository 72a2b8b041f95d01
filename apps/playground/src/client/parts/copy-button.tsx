import { useEffect, useState } from 'react';

/** Puts a text on the clipboard and says that it did. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => {
    navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return (
    <button type="button" className="copy" aria-label={`Copy ${what}`} onClick={copy}>
      {isCopied ? 'copied' : 'copy'}
    </button>
  );
}
