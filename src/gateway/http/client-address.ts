import type { IncomingMessage } from 'node:http';

/** Tells the network address that a request of an agent comes from. */
export type ClientAddress = (req: Pick<IncomingMessage, 'headers' | 'socket'>) => string;
