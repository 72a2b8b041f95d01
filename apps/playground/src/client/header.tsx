import type { ServerInfo } from './api.ts';
import { ThemeToggle } from './theme-toggle.tsx';

/** An area of the page. */
export type Pane = 'sessions' | 'chat' | 'state';

const panes: readonly (readonly [Pane, string])[] = [
  ['sessions', 'Sessions'],
  ['chat', 'Chat'],
  ['state', 'State'],
];

/** The stores as people name them. */
const STORES: Readonly<Record<string, string>> = {
  sqlite: 'SQLite',
  redis: 'Redis',
  dynamodb: 'DynamoDB',
  memory: 'memory',
};

interface HeaderProps {
  readonly server: ServerInfo | undefined;
  readonly pane: Pane;
  readonly onPane: (pane: Pane) => void;
}

/** The title of the page, the model, the store, and on a narrow screen the buttons of the areas. */
export function Header({ server, pane, onPane }: HeaderProps) {
  return (
    <header className="header">
      <div className="brand">
        <svg className="mark" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="8" />
          <path d="M11 8v16M21 8v16M11 16h10" />
        </svg>
        <h1>
          Holdfast <span>playground</span>
        </h1>
      </div>
      {server && (
        <p className="model" data-offline={server.isOffline || undefined}>
          <span className="model-dot" aria-hidden="true" />
          <span className="visually-hidden">Model: </span>
          {server.label} · sessions in {STORES[server.store] ?? server.store}
        </p>
      )}
      <ThemeToggle />
      <nav className="panes" aria-label="Areas">
        {panes.map(([name, label]) => (
          <button
            key={name}
            type="button"
            aria-current={pane === name || undefined}
            onClick={() => onPane(name)}
          >
            {label}
          </button>
        ))}
      </nav>
    </header>
  );
}
