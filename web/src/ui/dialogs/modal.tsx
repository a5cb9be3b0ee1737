import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useRef } from 'react';

export interface DialogProps {
  title: ReactNode;
  /** What the dialog is about, read out with its title. */
  description?: ReactNode;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  children: ReactNode;
}

/** The content of a `Dialog`, apart so that it is loaded when the first one opens. */
export function Modal({ title, description, open, onOpenChange, children }: DialogProps) {
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
