import { useLayoutEffect, useState } from 'react';

const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];
const key = 'holdfast-theme';

/** Light, dark, or as the system says; kept in this browser. */
export function ThemeToggle() {
  const [theme, setTheme] = useState<Theme>(readTheme);
  // An effect after the first paint would show the theme of the system for a moment.
  useLayoutEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(key, theme);
  }, [theme]);
  return (
    <fieldset className="themes">
      <legend className="visually-hidden">Theme</legend>
      {themes.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={theme === name}
          aria-label={`${name} theme`}
          title={`${name} theme`}
          onClick={() => setTheme(name)}
        >
          <svg viewBox="0 0 20 20" aria-hidden="true">
            <path d={icons[name]} />
          </svg>
        </button>
      ))}
    </fieldset>
  );
}

const icons: Readonly<Record<Theme, string>> = {
  system: 'M3.5 4.5h13v8.5h-13zM7.5 16h5M10 13v3',
  light:
    'M10 6.6a3.4 3.4 0 1 0 0 6.8 3.4 3.4 0 0 0 0-6.8ZM10 2.2v1.4M10 16.4v1.4M2.2 10h1.4M16.4 10h1.4M4.5 4.5l1 1M14.5 14.5l1 1M15.5 4.5l-1 1M5.5 14.5l-1 1',
  dark: 'M16.5 11.8A6.8 6.8 0 0 1 8.2 3.5a6.8 6.8 0 1 0 8.3 8.3Z',
};

function readTheme(): Theme {
  const stored = localStorage.getItem(key);
  return themes.find((name) => name === stored) ?? 'system';
}
