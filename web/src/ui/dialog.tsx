import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useRef } from 'react';

interface DialogProps {
  title: ReactNode;
  /** What the dialog is about, read out with its title. */
  description?: ReactNode;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
}

/** A modal dialog, which Escape closes. Its first control has the focus, or the one with `data-initial-focus`. */
export function Dialog({ title, description, open, onOpenChange, children }: DialogProps) {
  const popup = useRef<HTMLDivElement>(null);
  return (
    <Base.Root open={open} onOpenChange={onOpenChange}>
      <Base.Portal>
        <Base.Backdrop className="backdrop" />
        <Base.Popup
          ref={popup}
          className="dialog"
          initialFocus={() => popup.current?.querySelector<HTMLElement>('[data-initial-focus]') ?? true}
        >
          <Base.Title className="dialog-title">{title}</Base.Title>
          {description != null && <Base.Description className="quiet">{description}</Base.Description>}
          {children}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
