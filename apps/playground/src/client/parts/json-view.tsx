interface JsonViewProps {
  readonly value: unknown;
  /** Levels that are open at first; default 2. */
  readonly openLevels?: number;
}

/** A JSON value as a tree whose branches fold. */
export function JsonView({ value, openLevels = 2 }: JsonViewProps) {
  return (
    <div className="json">
      <Node value={value} name={undefined} openLevels={openLevels} />
    </div>
  );
}

function Node({ value, name, openLevels }: { value: unknown; name: string | undefined; openLevels: number }) {
  const label = name === undefined ? null : <span className="json-name">{name}: </span>;
  if (typeof value !== 'object' || value === null) {
    return (
      <div className="json-leaf">
        {label}
        <span data-json={value === null ? 'null' : typeof value}>{JSON.stringify(value)}</span>
      </div>
    );
  }
  const entries = Object.entries(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0) {
    return (
      <div className="json-leaf">
        {label}
        {open}
        {close}
      </div>
    );
  }
  return (
    <details open={openLevels > 0}>
      <summary>
        {label}
        {open} <span className="json-size">{entries.length}</span> {close}
      </summary>
      {entries.map(([key, member]) => (
        <Node key={key} name={key} value={member} openLevels={openLevels - 1} />
      ))}
    </details>
  );
}
