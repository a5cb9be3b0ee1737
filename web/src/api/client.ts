import { createClient } from '@flotilla/client';

/**
 * The API of the server that the page comes from. The browser sends the session's cookie; the header shows the server that the
 * request does not come from a page of another site.
 */
export const client = createClient({
  url: window.location.origin,
  fetch(input, init) {
    const request = new Request(input, init);
    request.headers.set('X-Requested-With', 'flotilla');
    return fetch(request);
  },
});
