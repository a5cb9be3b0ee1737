import { Link } from '@tanstack/react-router';

/** What an address shows at which there is nothing. */
export function NotFound() {
  return (
    <main className="standalone">
      <h1>There is no page at this address</h1>
      <p>
        It may have been removed, or the address is mistyped. Go to the <Link to="/">overview</Link>.
      </p>
    </main>
  );
}
