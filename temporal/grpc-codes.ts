import { isGrpcServiceError } from '@temporalio/client';

/** Codes of refused calls that say something about the server's state. */
export const GRPC = { notFound: 5, alreadyExists: 6, failedPrecondition: 9 } as const;

/** Whether a call to the server was refused with this code. */
export function hasCode(error: unknown, code: (typeof GRPC)[keyof typeof GRPC]): boolean {
  return isGrpcServiceError(error) && error.code === code;
}
