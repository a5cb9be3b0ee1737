import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { isTyping, SHORTCUTS } from './shortcuts.ts';

const Palette = lazy(() => import('./palette/palette.tsx').then(({ Palette: component }) => ({ default: component })));
const ShortcutList = lazy(() =>
  import('./palette/shortcut-list.tsx').then(({ ShortcutList: component }) => ({ default: component })),
);

/** How long the second key of a shortcut may take. */
const SECOND_KEY_MS = 1500;

/** Goes to any page or action by typing; opened by Ctrl+K. Its content is loaded when it is first opened. */
export function CommandPalette() {
  const [open, setOpen] = useState<'palette' | 'shortcuts' | null>(null);
  useKeys(setOpen);
  return (
    <>
      <Button className="palette-button" aria-keyshortcuts="Control+K Meta+K" onClick={() => setOpen('palette')}>
        <span>Search or jump to…</span>
      </Button>
      <Suspense>
        {open === 'palette' && <Palette onClose={() => setOpen(null)} onShortcuts={() => setOpen('shortcuts')} />}
        {open === 'shortcuts' && <ShortcutList onClose={() => setOpen(null)} />}
      </Suspense>
    </>
  );
}

/** The keys that work on every page. */
function useKeys(setOpen: (open: 'palette' | 'shortcuts') => void): void {
  const navigate = useNavigate();
  const firstAt = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isCommand = event.ctrlKey || event.metaKey;
      if (isCommand && !event.shiftKey && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        setOpen('palette');
        return;
      }
      if (isCommand || event.altKey || isTyping(event.target)) return;
      const isSecond = event.timeStamp - firstAt.current < SECOND_KEY_MS;
      firstAt.current = event.key === 'g' ? event.timeStamp : 0;
      if (event.key === '?') setOpen('shortcuts');
      const target = isSecond ? SHORTCUTS.find(({ key }) => key === event.key) : undefined;
      if (target) void navigate({ to: target.to });
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [navigate, setOpen]);
}
