import type { ComponentProps } from 'react';

interface ButtonProps extends ComponentProps<'button'> {
  /** `primary` for the one action of a form, `danger` for what cannot be undone. */
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** Work is going on: the button stays focused and cannot be pressed again. */
  busy?: boolean;
  /** Of the button that has the focus when its dialog opens. */
  'data-initial-focus'?: boolean;
}

/** A button; of type `button` unless it submits a form. */
export function Button({ kind = 'plain', busy = false, type = 'button', className = '', ...props }: ButtonProps) {
  return (
    <button
      type={type}
      className={`button button-${kind} ${className}`}
      aria-disabled={busy || undefined}
      {...props}
      onClick={busy ? (event) => event.preventDefault() : props.onClick}
    />
  );
}
