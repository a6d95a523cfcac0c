import { z } from 'zod';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

const MOST = 65_000;
const PAGE = 100;
/** GitHub has no `user` where the account is gone. */
const pageSchema = z.array(
  z.object({ id: z.int(), body: z.string().nullish(), user: z.object({ type: z.string() }).nullish() }),
);

/**
 * Reads from the environment of a GitHub workflow which pull request gets the comment. The returned function replaces the bot's comment that
 * begins with the same line, so that repeated runs leave one comment.
 */
export function commentFor(environment: Surroundings['environment']): (text: string) => Promise<void> {
  const { GITHUB_TOKEN, GITHUB_REPOSITORY, GITHUB_REF = '', GITHUB_API_URL = 'https://api.github.com' } = environment;
  const [, number] = /^refs\/pull\/(\d+)\//.exec(GITHUB_REF) ?? [];
  if (!GITHUB_TOKEN || !GITHUB_REPOSITORY || number === undefined)
    throw new CommandFailed(
      '--comment needs GITHUB_TOKEN, GITHUB_REPOSITORY and in GITHUB_REF a pull request, as a workflow on GitHub has them. Nothing ran.',
      exitCodes.usage,
    );
  const issues = `${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/issues`;
  const failed = (method: string, url: string, why: string) =>
    new CommandFailed(`The comment cannot be written: ${method} ${url}: ${why.slice(0, 300)}`, exitCodes.failed);
  const call = async (method: string, url: string, body?: string): Promise<string> => {
    const headers = { authorization: `Bearer ${GITHUB_TOKEN}`, accept: 'application/vnd.github+json' };
    const sent = body === undefined ? {} : { body: JSON.stringify({ body }) };
    const answer = await fetch(url, { method, headers, ...sent }).catch((error) => {
      throw failed(method, url, error.message);
    });
    const text = await answer.text();
    if (answer.ok) return text;
    throw failed(method, url, `${answer.status} ${text}`);
  };
  return async (text) => {
    const [marker = ''] = text.split('\n', 1);
    for (let page = 1; ; page++) {
      const url = `${issues}/${number}/comments?per_page=${PAGE}&page=${page}`;
      const body = await call('GET', url);
      const { data: comments } = pageSchema.safeParse(parseJson(body));
      if (comments === undefined) throw failed('GET', url, `this is no list of comments: ${body}`);
      const last = comments.find(({ body, user }) => user?.type === 'Bot' && body?.startsWith(marker));
      if (last) return void (await call('PATCH', `${issues}/comments/${last.id}`, cut(text)));
      if (comments.length < PAGE) return void (await call('POST', `${issues}/${number}/comments`, cut(text)));
    }
  };
}

/** The limit of GitHub for a comment, in characters. */
function cut(text: string): string {
  if (text.length <= MOST) return text;
  return `${text.slice(0, text.lastIndexOf('\n', MOST))}\n\nThe whole report is in the summary of the workflow.\n`;
}
