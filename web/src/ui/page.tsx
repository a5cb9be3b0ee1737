import { type ReactNode, useEffect } from 'react';

interface PageProps {
  title: string;
  /** Beside the title: a state, or what the page is about. */
  aside?: ReactNode;
  /** Buttons on the right. */
  actions?: ReactNode;
  /** The content fills the height and scrolls by itself, as tables do. */
  fill?: boolean;
  children: ReactNode;
}

/** A page with its heading, which is also the title of the window. */
export function PageLayout({ title, aside, actions, fill, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – Flotilla`;
  }, [title]);
  return (
    <div className={fill ? 'page page-fill' : 'page'}>
      <div className="page-head">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {aside}
        {actions && <div className="page-actions">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** A part of a page under a heading, above a line. */
export function Section({ title, actions, children }: { title: string; actions?: ReactNode; children: ReactNode }) {
  return (
    <section className="section">
      <div className="section-head">
        <h2>{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

/** What a list shows that has nothing: why, and what to do. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children != null && <div className="quiet">{children}</div>}
    </div>
  );
}

/** Grey lines where content will appear. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => line).map((line) => (
        <span key={line} className="skeleton-line" />
      ))}
    </div>
  );
}

/** Names and values, aligned; values that are null or empty show a dash. */
export function Facts({ items }: { items: ReadonlyArray<readonly [name: string, value: ReactNode]> }) {
  return (
    <dl className="facts">
      {items.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>{name}</dt>
          <dd>{value == null || value === '' ? <span className="quiet">–</span> : value}</dd>
        </div>
      ))}
    </dl>
  );
}
