import { Menu as Base } from '@base-ui/react/menu';
import type { ReactNode } from 'react';

interface MenuProps {
  /** The name of the button that opens it. */
  label: ReactNode;
  disabled?: boolean;
  className?: string;
  /** Whether it is open at first. */
  defaultOpen?: boolean;
  children: ReactNode;
}

/** A button that opens a list of actions. */
export function Menu({ label, disabled, className = 'button button-plain', defaultOpen, children }: MenuProps) {
  return (
    <Base.Root defaultOpen={defaultOpen}>
      <Base.Trigger className={className} disabled={disabled}>
        {label}
        <span aria-hidden="true" className="menu-caret" />
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="menu-positioner" sideOffset={4} align="end">
          <Base.Popup className="menu">{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** One action of a menu. */
export function MenuItem({
  onSelect,
  children,
  disabled,
}: {
  onSelect: () => void;
  children: ReactNode;
  disabled?: boolean;
}) {
  return (
    <Base.Item className="menu-item" onClick={onSelect} disabled={disabled}>
      {children}
    </Base.Item>
  );
}

/** Actions of a menu that belong together, under a heading. */
export function MenuGroup({ label, children }: { label: string; children: ReactNode }) {
  return (
    <Base.Group>
      <Base.GroupLabel className="menu-label">{label}</Base.GroupLabel>
      {children}
    </Base.Group>
  );
}

/** Something that is on or off; the menu stays open. */
export function MenuCheck({
  checked,
  onChange,
  children,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ReactNode;
}) {
  return (
    <Base.CheckboxItem className="menu-item" checked={checked} onCheckedChange={onChange} closeOnClick={false}>
      <span className="menu-mark" aria-hidden="true">
        {checked ? '✓' : ''}
      </span>
      {children}
    </Base.CheckboxItem>
  );
}

/** One of several values of which a menu shows the chosen one. */
export function MenuChoice<T extends string>({
  value,
  options,
  onChange,
}: {
  value: T;
  options: ReadonlyArray<{ value: T; label: string }>;
  onChange: (value: T) => void;
}) {
  return (
    <Base.RadioGroup value={value} onValueChange={(chosen: T) => onChange(chosen)}>
      {options.map((option) => (
        <Base.RadioItem key={option.value} value={option.value} className="menu-item" closeOnClick>
          <span className="menu-mark" aria-hidden="true">
            {option.value === value ? '✓' : ''}
          </span>
          {option.label}
        </Base.RadioItem>
      ))}
    </Base.RadioGroup>
  );
}
