import type { ErrorComponentProps } from '@tanstack/react-router';
import { Button } from '../ui/button.tsx';
import { ErrorMessage } from '../ui/error-message.tsx';

/** What a page shows that could not be loaded. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <main className="standalone">
      <h1>This page could not be loaded</h1>
      <ErrorMessage error={error} />
      <Button onClick={reset}>Try again</Button>
    </main>
  );
}
