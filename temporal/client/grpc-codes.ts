import { isGrpcServiceError } from '@temporalio/client';

export const GRPC = { notFound: 5, alreadyExists: 6, failedPrecondition: 9 } as const;

/** Whether the server rejected a call with this code. */
export function hasCode(error: unknown, code: (typeof GRPC)[keyof typeof GRPC]): boolean {
  return isGrpcServiceError(error) && error.code === code;
}
