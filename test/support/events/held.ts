/** An activity, the response about which the stand-in for a feed holds. */
export const HELD = 4711;
