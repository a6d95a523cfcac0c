export type Environment = Record<string, string | undefined>;

/** An environment without the space around values, such as the newline at the end of a secret's file; an empty one counts as not given. */
export function givenIn(environment: Environment): Environment {
  const trimmed = Object.entries(environment).map(([name, value = '']) => [name, value.trim()] as const);
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''));
}
