import { ApiError } from '@flotilla/client';

/** The message of an error, with the details of the server and what its log has it under; nothing without an error. */
export function ErrorMessage({ error }: { error: unknown }) {
  if (error == null) return null;
  const isApi = error instanceof ApiError;
  return (
    <div role="alert" className="error-message">
      <p>{errorText(error)}</p>
      {isApi && error.details.length > 0 && (
        <ul>
          {error.details.slice(0, 10).map(({ path, id, message }) => (
            <li key={`${path ?? id}:${message}`}>{[path ?? id, message].filter((part) => part != null).join(': ')}</li>
          ))}
        </ul>
      )}
      {isApi && error.status >= 500 && error.requestId !== null && <p className="quiet">Request {error.requestId}</p>}
    </div>
  );
}

/** What went wrong, for people. */
export function errorText(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return 'The server cannot be reached. Try again when the connection is back.';
  return error instanceof Error ? error.message : 'Something went wrong.';
}

/** The message of the server about one field of a request, by its path; null if there is none. */
export function fieldError(error: unknown, path: string): string | null {
  if (!(error instanceof ApiError)) return null;
  return error.details.find((detail) => detail.path === path)?.message ?? null;
}
