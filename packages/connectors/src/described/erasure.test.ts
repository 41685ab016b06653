import { basic, bearer, type ErasureExamples, email, externalId, phone, testErasure } from '../../test/test-erasure.ts'
import { attentive } from '../attentive/attentive.ts'
import { braze } from '../braze/braze.ts'
import { customerIo } from '../customer-io/customer-io.ts'
import { intercom } from '../intercom/intercom.ts'
import { iterable } from '../iterable/iterable.ts'
import { klaviyo } from '../klaviyo/klaviyo.ts'
import { mailchimp } from '../mailchimp/mailchimp.ts'

/** How platforms erase people: their requests, judged by their documents, and the meaning of their answers. */

const klaviyoJob = (profile: object) => ({
  path: '/api/data-privacy-deletion-jobs',
  body: {
    data: { type: 'data-privacy-deletion-job', attributes: { profile: { data: { type: 'profile', ...profile } } } },
  },
})
const customerIoDelete = (identifiers: object) => ({
  path: '/api/v2/batch',
  body: { batch: [{ type: 'person', action: 'delete', identifiers }] },
})
const mailchimpLists = { method: 'GET', path: '/3.0/lists', query: 'fields=lists.id&count=1000' }
/** By the MD5 of the address in lower case. */
const mailchimpDelete = (list: string) => ({
  path: `/3.0/lists/${list}/members/9e26471d35a78862c17e467d87cddedf/actions/delete-permanent`,
})
const mailchimpMissing = { status: 404, json: { title: 'Resource Not Found', detail: 'Not found' } }
const intercomSearch = (field: string, value: string) => ({
  path: '/contacts/search',
  body: { query: { field, operator: '=', value }, pagination: { per_page: 150 } },
})

const platforms: readonly ErasureExamples[] = [
  {
    connector: braze,
    secrets: { restEndpoint: 'https://rest.iad-01.braze.com', apiKey: 'canary-of-the-braze-key' },
    origin: 'https://rest.iad-01.braze.com',
    headers: bearer('canary-of-the-braze-key'),
    published: 'braze',
    beyond: {
      email_addresses: 'Braze’s reference of /users/delete, which is newer than the collection',
      phone_numbers: 'as email_addresses',
    },
    examples: [
      {
        person: email,
        requests: [{ path: '/users/delete', body: { email_addresses: [email.value] } }],
        answers: [{ status: 201, json: { deleted: 2, message: 'success' } }],
        outcome: 'requested',
      },
      {
        person: phone,
        requests: [{ path: '/users/delete', body: { phone_numbers: [phone.value] } }],
        answers: [{ status: 201, json: { deleted: 0, message: 'success' } }],
        outcome: 'notFound',
      },
      {
        person: externalId,
        requests: [{ path: '/users/delete', body: { external_ids: ['u1'] } }],
        answers: [{ status: 400, json: { message: 'Invalid external_id' } }],
        outcome: 'refused',
      },
    ],
  },
  {
    connector: klaviyo,
    secrets: { apiKey: 'pk_canary-of-klaviyo' },
    origin: 'https://a.klaviyo.com',
    headers: { authorization: 'Klaviyo-API-Key pk_canary-of-klaviyo', revision: '2026-07-15' },
    published: 'klaviyo',
    examples: [
      {
        person: email,
        requests: [klaviyoJob({ attributes: { email: email.value } })],
        answers: [{ status: 202, text: '' }],
        outcome: 'requested',
      },
      {
        person: phone,
        requests: [klaviyoJob({ attributes: { phone_number: phone.value } })],
        answers: [{ status: 400, json: { errors: [{ detail: 'Invalid phone number' }] } }],
        outcome: 'refused',
      },
      {
        person: externalId,
        requests: [
          {
            method: 'GET',
            path: '/api/profiles',
            query: 'filter=equals(external_id,"u1")&fields[profile]=external_id',
          },
          klaviyoJob({ id: '01H', attributes: {} }),
        ],
        // A profile that was not asked for stays.
        answers: [
          {
            json: {
              data: [
                { id: '01G', attributes: { external_id: 'u11' } },
                { id: '01H', attributes: { external_id: 'u1' } },
              ],
            },
          },
          { status: 202, text: '' },
        ],
        outcome: 'requested',
      },
    ],
  },
  {
    connector: customerIo,
    secrets: { region: 'eu', siteId: 'site', apiKey: 'canary-of-customer-io' },
    origin: 'https://track-eu.customer.io',
    headers: basic('site:canary-of-customer-io'),
    published: 'customer-io',
    examples: [
      {
        person: email,
        requests: [customerIoDelete({ email: email.value })],
        answers: [{ json: {} }],
        outcome: 'requested',
      },
      {
        person: externalId,
        requests: [customerIoDelete({ id: 'u1' })],
        answers: [{ status: 207, json: { errors: [{ batch_index: 0, message: 'invalid id' }] } }],
        outcome: 'refused',
      },
    ],
  },
  {
    connector: iterable,
    secrets: { apiKey: 'canary-of-iterable' },
    origin: 'https://api.iterable.com',
    headers: { 'api-key': 'canary-of-iterable' },
    published: 'iterable',
    examples: [
      {
        person: email,
        requests: [{ method: 'DELETE', path: '/api/users/Jane%40example.com' }],
        answers: [{ json: { msg: '', code: 'Success', params: null } }],
        outcome: 'requested',
      },
      {
        person: externalId,
        requests: [{ method: 'DELETE', path: '/api/users/byUserId/u1' }],
        answers: [{ status: 400, json: { msg: 'Invalid user ID', code: 'BadParams' } }],
        outcome: 'refused',
      },
    ],
  },
  {
    connector: mailchimp,
    secrets: { apiKey: 'canary0123456789-us21' },
    origin: 'https://us21.api.mailchimp.com',
    headers: basic('penstock:canary0123456789-us21'),
    published: 'mailchimp',
    examples: [
      {
        person: email,
        requests: [mailchimpLists, mailchimpDelete('l1'), mailchimpDelete('l2')],
        answers: [{ json: { lists: [{ id: 'l1' }, { id: 'l2' }] } }, mailchimpMissing, { status: 204, text: '' }],
        outcome: 'deleted',
      },
      {
        person: email,
        requests: [mailchimpLists, mailchimpDelete('l1')],
        answers: [{ json: { lists: [{ id: 'l1' }] } }, mailchimpMissing],
        outcome: 'notFound',
      },
      {
        person: email,
        requests: [mailchimpLists, mailchimpDelete('l1')],
        answers: [{ json: { lists: [{ id: 'l1' }] } }, { status: 405, json: { detail: 'It cannot be removed' } }],
        outcome: 'refused',
      },
    ],
  },
  {
    connector: intercom,
    secrets: { region: 'eu', accessToken: 'canary-of-intercom' },
    origin: 'https://api.eu.intercom.io',
    headers: { ...bearer('canary-of-intercom'), 'intercom-version': '2.15' },
    published: 'intercom',
    examples: [
      {
        person: email,
        requests: [
          intercomSearch('email', email.value),
          { method: 'DELETE', path: '/contacts/c1' },
          { method: 'DELETE', path: '/contacts/c3' },
        ],
        answers: [
          {
            json: {
              data: [
                { id: 'c1', email: 'jane@example.com' },
                { id: 'c2', email: 'jane@example.com.au' },
                { id: 'c3', email: 'JANE@example.com' },
              ],
            },
          },
          { json: { deleted: true } },
          { status: 404, json: { errors: [{ code: 'not_found', message: 'User Not Found' }] } },
        ],
        outcome: 'deleted',
      },
      {
        person: phone,
        requests: [intercomSearch('phone', phone.value)],
        answers: [{ json: { data: [] } }],
        outcome: 'notFound',
      },
      {
        person: externalId,
        requests: [intercomSearch('external_id', 'u1'), { method: 'DELETE', path: '/contacts/c1' }],
        answers: [
          { json: { data: [{ id: 'c1', external_id: 'u1' }] } },
          { status: 422, json: { errors: [{ code: 'x', message: 'The contact is locked' }] } },
        ],
        outcome: 'refused',
      },
    ],
  },
  {
    connector: attentive,
    secrets: { apiKey: 'canary-of-attentive' },
    origin: 'https://api.attentivemobile.com',
    headers: bearer('canary-of-attentive'),
    published: 'attentive',
    examples: [
      {
        person: email,
        requests: [{ path: '/v1/privacy/delete-request', body: { subjectEmail: email.value } }],
        answers: [{ json: { deletionRequestId: 'x' } }],
        outcome: 'requested',
      },
      {
        person: phone,
        requests: [{ path: '/v1/privacy/delete-request', body: { subjectPhone: phone.value } }],
        answers: [{ json: {} }],
        outcome: 'requested',
      },
      {
        person: externalId,
        requests: [{ path: '/v1/privacy/delete-request', body: { clientUserId: 'u1' } }],
        answers: [{ status: 400, json: { error: 'no such user' } }],
        outcome: 'refused',
      },
    ],
  },
]

for (const platform of platforms) testErasure(platform)
