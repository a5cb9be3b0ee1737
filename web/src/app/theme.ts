const KEY = 'flotilla.theme';

export const THEMES = ['system', 'light', 'dark', 'contrast'] as const;
export type Theme = (typeof THEMES)[number];

/** The theme that the person chose in this browser; `system` follows the preferences of the system. */
export function readTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return THEMES.find((theme) => theme === stored) ?? 'system';
}

/** Shows a theme, the chosen one by default, and keeps it. */
export function applyTheme(theme: Theme = readTheme()): void {
  localStorage.setItem(KEY, theme);
  document.documentElement.dataset['theme'] = theme;
}
