import { useSyncExternalStore } from 'react';

const PREFERENCES = ['(prefers-color-scheme: dark)', '(prefers-contrast: more)'];

/** Changes whenever the colours of the page do. */
export function useTheme(): string {
  return useSyncExternalStore(subscribe, () =>
    [document.documentElement.dataset['theme'], ...PREFERENCES.map((query) => matchMedia(query).matches)].join(' '),
  );
}

function subscribe(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  const lists = PREFERENCES.map((query) => matchMedia(query));
  for (const list of lists) list.addEventListener('change', listener);
  return () => {
    observer.disconnect();
    for (const list of lists) list.removeEventListener('change', listener);
  };
}
