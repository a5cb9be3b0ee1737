import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { copyText } from './clipboard.ts';

/** A button that copies a text. */
export function CopyButton({ text, children = 'Copy' }: { text: string; children?: ReactNode }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(text);
    setCopied(true);
  };
  return (
    <span className="copy-as">
      <Button kind="quiet" onClick={() => void copy()}>
        {children}
      </Button>
      <span role="status" className="quiet">
        {isCopied && 'Copied'}
      </span>
    </span>
  );
}

/** Lines for a shell or a file, with a button that copies them. */
export function CopyBlock({ label, text }: { label: string; text: string }) {
  return (
    <figure className="copy-block">
      <figcaption>
        {label}
        <CopyButton text={text} />
      </figcaption>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the window is scrolled by keys */}
      <pre tabIndex={0}>{text}</pre>
    </figure>
  );
}

/** A secret that is shown this once, until the person has copied it. */
export function SecretOnce({ title, items, onDone }: SecretOnceProps) {
  return (
    <section className="secret" aria-label={title}>
      <p>
        <strong>{title}</strong> Copy it now: it is not shown again.
      </p>
      {items.map(({ label, value }) => (
        <p key={label}>
          {label}: <code>{value}</code> <CopyButton text={value}>Copy {label.toLowerCase()}</CopyButton>
        </p>
      ))}
      <div className="button-row">
        <Button onClick={onDone}>I have copied it</Button>
      </div>
    </section>
  );
}

interface SecretOnceProps {
  title: string;
  items: ReadonlyArray<{ label: string; value: string }>;
  onDone: () => void;
}
