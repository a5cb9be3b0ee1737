import { type ComponentProps, type ReactNode, useId } from 'react';

interface FieldProps {
  label: string;
  hint?: ReactNode;
  error?: string | null;
}

/** Connects a control with its label, hint and error. */
export function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & {
  children: (control: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }) => ReactNode;
}) {
  const id = useId();
  const described = [hint != null && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children({ id, ...(described && { 'aria-describedby': described }), ...(error && { 'aria-invalid': true }) })}
      {hint != null && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
    </div>
  );
}

/** A labelled line of text. */
export function TextField({ label, hint, error, className = '', ...input }: FieldProps & ComponentProps<'input'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <input className={`input ${className}`} {...control} {...input} />}
    </Field>
  );
}

/** A labelled text of several lines. */
export function TextArea({ label, hint, error, className = '', ...area }: FieldProps & ComponentProps<'textarea'>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => <textarea className={`input ${className}`} rows={4} {...control} {...area} />}
    </Field>
  );
}

/** A labelled choice of one of few values. */
export function SelectField({
  label,
  hint,
  error,
  options,
  ...select
}: FieldProps & ComponentProps<'select'> & { options: ReadonlyArray<{ value: string; label: string }> }) {
  return (
    <Field label={label} hint={hint} error={error}>
      {(control) => (
        <select className="input" {...control} {...select}>
          {options.map(({ value, label: text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** A labelled yes or no. */
export function CheckField({ label, hint, ...input }: { label: string; hint?: ReactNode } & ComponentProps<'input'>) {
  const id = useId();
  return (
    <div className="field-check">
      <input type="checkbox" id={id} aria-describedby={hint == null ? undefined : `${id}-hint`} {...input} />
      <label htmlFor={id}>{label}</label>
      {hint != null && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
}
