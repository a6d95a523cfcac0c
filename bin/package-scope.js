/**
 * The scope under which the packages are published: `@your-scope/rule-server` and `@your-scope/rule-server-client`. A person who owns a scope
 * on npm puts it here; with this placeholder nothing is published. The names without a scope are nobody's: whoever takes one of them
 * there could be installed in our place.
 */
export const SCOPE = '@your-scope';
export const PLACEHOLDER = '@your-scope';
