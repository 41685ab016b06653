import { testDescribedDestination } from '../../test/test-described-destination.ts'
import { mailchimp } from './mailchimp.ts'

testDescribedDestination({
  connector: mailchimp,
  secrets: { apiKey: 'canary0123456789-us21' },
  origin: 'https://us21.api.mailchimp.com',
  headers: { authorization: `Basic ${Buffer.from('penstock:canary0123456789-us21').toString('base64')}` },
  checks: 'GET /3.0/ping',
  published: 'mailchimp',
  beyond: { 'members.*.tags': 'The document has sync_tags, which replaces the tags of members by these' },
  examples: [
    {
      title: 'adds and updates members, and knows who was not taken by the address',
      operation: 'update members',
      settings: { listId: 'a1b2c3' },
      rows: [
        { email: 'Ann@example.com', merge_fields: '{"FNAME":"Ann"}', tags: 'a;b', status: null },
        { email: 'b@example.com', merge_fields: null, tags: null, status: 'pending' },
      ],
      requests: [
        {
          path: '/3.0/lists/a1b2c3',
          body: {
            members: [
              {
                email_address: 'Ann@example.com',
                status: 'subscribed',
                tags: ['a', 'b'],
                merge_fields: { FNAME: 'Ann' },
              },
              { email_address: 'b@example.com', status: 'pending' },
            ],
            update_existing: true,
          },
        },
      ],
      answers: [
        {
          json: {
            new_members: [],
            updated_members: [],
            errors: [
              {
                email_address: 'ann@example.com',
                error: 'is in a compliance state',
                error_code: 'ERROR_CONTACT_EXISTS',
              },
            ],
          },
        },
      ],
      rejected: [0],
      because: /compliance state/,
    },
    {
      title: 'archives members, also those who are not there',
      operation: 'archive members',
      settings: { listId: 'a1b2c3' },
      rows: [{ email: 'Urist.McVankab@freddiesjokes.com' }, { email: 'b@example.com' }],
      requests: [
        { method: 'DELETE', path: '/3.0/lists/a1b2c3/members/62eeb292278cc15f5817cb78f7790b08', body: undefined },
        { method: 'DELETE', path: '/3.0/lists/a1b2c3/members/d3d7ebb9768eb6f1d6cee6d0cefd341b', body: undefined },
      ],
      answers: [
        { status: 204, text: '' },
        { status: 404, json: { title: 'Resource Not Found', status: 404 } },
      ],
    },
  ],
})
