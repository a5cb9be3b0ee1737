import { lazy, Suspense, useState } from 'react';
import type { DialogProps } from './modal.tsx';

const Modal = lazy(() => import('./modal.tsx').then(({ Modal: component }) => ({ default: component })));

/** A modal dialog, which Escape closes. Its first control has the focus, or the one with `data-initial-focus`. */
export function Dialog(props: DialogProps) {
  const [isNeeded, setNeeded] = useState(props.open);
  if (props.open && !isNeeded) setNeeded(true);
  return isNeeded ? (
    <Suspense>
      <Modal {...props} />
    </Suspense>
  ) : null;
}
