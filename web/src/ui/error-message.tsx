import { ApiError } from '@flotilla/client';

interface ErrorMessageProps {
  error: unknown;
  /** Fields of the form that show the messages about them themselves. */
  fields?: readonly string[];
}

/** The message of an error, with the details of the server and what its log has it under; nothing without an error. */
export function ErrorMessage({ error, fields = [] }: ErrorMessageProps) {
  if (error == null) return null;
  const isApi = error instanceof ApiError;
  const details = isApi ? error.details.filter(({ path }) => !fields.some((field) => isAbout(path, field))) : [];
  const isAtFields = isApi && error.details.length > 0 && details.length === 0;
  return (
    <div role="alert" className="error-message">
      <p>{isAtFields ? 'Check the fields with a message.' : errorText(error)}</p>
      {details.length > 0 && (
        <ul>
          {details.slice(0, 10).map(({ path, id, message }) => (
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

/** The message of the server about a field of a request's body, or a whole path such as `query.reason`; null if there is none. */
export function fieldError(error: unknown, field: string): string | null {
  if (!(error instanceof ApiError)) return null;
  return error.details.find(({ path }) => isAbout(path, field))?.message ?? null;
}

function isAbout(path: string | undefined, field: string): boolean {
  return [field, `body.${field}`].some((name) => path === name || path?.startsWith(`${name}.`));
}
