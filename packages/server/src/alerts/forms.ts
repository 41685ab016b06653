import type { AlertMessage } from './messages.ts'

/** The forms that a message has at each channel. */

export const mailOf = ({ title, lines, link, footer }: AlertMessage) => ({
  subject: title,
  text: `${lines.join('\n')}\n\n${link.text}: ${link.url}\n\n${footer}\n`,
})

/** Slack reads `&`, `<` and `>` in every text as its own, and in `mrkdwn` more: so only our own link is `mrkdwn`. */
const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
const headerMax = 150
const textMax = 3_000

/** A text for Slack, cut to the length that Slack accepts, but never in the middle of an entity. */
function escaped(text: string, lengthMax = textMax): string {
  let result = ''
  for (const character of text) {
    const piece = entities[character] ?? character
    if (result.length + piece.length > lengthMax) break
    result += piece
  }
  return result
}
const plain = (text: string, lengthMax?: number) => ({
  type: 'plain_text',
  text: escaped(text, lengthMax),
  emoji: false,
})

/** The body of a request to an incoming webhook of Slack. The text is what notifications show. */
export const slackBodyOf = ({ title, lines, link, footer }: AlertMessage): string =>
  JSON.stringify({
    text: escaped(title),
    unfurl_links: false,
    unfurl_media: false,
    blocks: [
      { type: 'header', text: plain(title, headerMax) },
      { type: 'section', text: plain(lines.join('\n')) },
      {
        type: 'section',
        text: { type: 'mrkdwn', text: `<${escaped(link.url)}|${escaped(link.text)}>`, verbatim: true },
      },
      { type: 'context', elements: [plain(footer)] },
    ],
  })

/**
 * A text for Adaptive Cards that is not interpreted as Markdown. A `TextBlock` renders links and headings, a `TextRun` does
 * not.
 */
const textOf = (text: string, style: object = {}) => ({
  type: 'RichTextBlock',
  inlines: [{ type: 'TextRun', text, ...style }],
})

/** The body of a request to a workflow of Teams that posts a webhook to a channel or a chat: an Adaptive Card. */
export const teamsBodyOf = ({ title, lines, link, footer }: AlertMessage): string =>
  JSON.stringify({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            textOf(title, { weight: 'Bolder', size: 'Medium' }),
            ...lines.map((line) => textOf(line)),
            textOf(footer, { isSubtle: true, size: 'Small' }),
          ],
          actions: [{ type: 'Action.OpenUrl', title: link.text, url: link.url }],
        },
      },
    ],
  })
