import { createContext, useContext } from 'react';
import { BROWSER_ZONE } from './zone.ts';

/** The time zone in which the page shows times and reads those of fields; the frame of the pages sets that of the person. */
export const ZoneContext = createContext(BROWSER_ZONE);

/** The person's time zone. */
export function useZone(): string {
  return useContext(ZoneContext);
}
