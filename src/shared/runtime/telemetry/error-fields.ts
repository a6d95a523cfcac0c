/** The fields of an error that a log line has. */
type ErrorFields = { type: string; message: string; stack?: string; code?: string; cause?: ErrorFields };

const MAX_CAUSES = 5;
/** Redis quotes the arguments of an unknown command, which may be inputs or passwords. */
const ARGUMENTS = /,? with args beginning with:.*$/gm;

/** Only these members of an error are logged, because libraries attach the failed command with its input. */
export function errorFields(error: unknown, { causes = MAX_CAUSES, withStack = true } = {}): ErrorFields {
  if (!(error instanceof Error)) return { type: typeof error, message: typeof error === 'string' ? error : 'no error' };
  const { name, message, stack, cause } = error;
  const fields: ErrorFields = { type: name, message: message.replace(ARGUMENTS, '') };
  if (withStack && stack !== undefined) fields.stack = stack.replace(ARGUMENTS, '');
  if ('code' in error && ['string', 'number'].includes(typeof error.code)) fields.code = String(error.code);
  if (cause !== undefined && causes > 0) fields.cause = errorFields(cause, { causes: causes - 1, withStack });
  return fields;
}

/** An error as lines for a person, with nothing more in them than a log would have. */
export function printError(error: unknown): string {
  const { message, stack = message, cause } = errorFields(error);
  return cause ? `${stack}\ncaused by ${cause.stack ?? cause.message}` : stack;
}
