/**
 * The story of the examples of the documents: a sub-account that sends the customers in its bucket to Meta.
 * Identifiers of the catalogue are the real ones, so that an example can be tried unchanged.
 */
export const example = {
  clientId: '5d0e8f1c27b3a964',
  requestId: 'b6f0c1d29e8a4753',
  etag: '"7"',
  accountId: '3f9c2b7a10d4e856',
  ownerId: '90b4c6e2d81f7a35',
  environmentId: 'b8ff6a132c53c2f4',
  connectionId: 'c27e4f0a9b16d385',
  transferId: '7d1b05c9e2f4a863',
  linkId: '2d9c61f08b7a4e35',
  eventId: '4be09a7c15d2f836',
  webhookId: 'a18f3c60d7e2945b',
  deliveryId: '0c7d92e8b35f41a6',
  alertRuleId: '6e2a90d4b7f1c835',
  uploadId: '8e41c0d72ba95f36',
  uploadName: 'customers.csv',
  alertIncidentId: 'd1f83b5a07c94e26',
  platformId: 'f7f635720f3ab361',
  source: {
    connectorId: '364ed3ebf1d8bbc4',
    configurationId: '1b7d93f5e04a2c68',
    name: 'Amazon S3 Source',
    logo: 'http://127.0.0.1:8080/logos/amazon-s3.svg',
    settings: { bucketUri: 's3://acme-outdoor/customers/' },
  },
  destination: {
    connectorId: '8393a5b5483bd65a',
    configurationId: 'e5a8d2063c7f941b',
    name: 'Meta Custom Audiences',
    logo: 'http://127.0.0.1:8080/logos/meta-ads.svg',
    settings: { advertiserId: '1234567890', audienceSource: 'CRM' },
  },
  secretName: 'meta-custom-audiences/3f9c2b7a10d4e856',
  /** Field definitions of the destination, as a configured connector shows them. */
  secretFields: [
    {
      name: 'authType',
      label: 'Sign-in method',
      description: 'Whether access is granted to an OAuth app, or by a token that you enter',
      type: 'Select',
      required: true,
      readonly: false,
      options: ['oauth2', 'api-token'],
      value: 'api-token',
    },
    {
      name: 'accessToken',
      label: 'Access token',
      description: 'Token from an app that has permission to manage audiences',
      type: 'Password',
      required: true,
      readonly: false,
      value: '********',
    },
  ],
  connectionFields: [
    {
      name: 'advertiserId',
      label: 'Advertiser ID',
      description: 'ID of the ad account that owns the audiences',
      type: 'Text',
      required: true,
      readonly: false,
      value: '',
    },
  ],
  /** The same by their definitions, and records of the destination. */
  definitionFields: [
    {
      name: 'authType',
      label: 'Sign-in method',
      description: 'Whether access is granted to an OAuth app, or by a token that you enter',
      type: 'Select',
      required: true,
      readonly: false,
      options: ['oauth2', 'api-token'],
    },
    {
      name: 'accessToken',
      label: 'Access token',
      description: 'Token from an app that has permission to manage audiences',
      type: 'Password',
      required: true,
      readonly: false,
      when: { authType: ['api-token'] },
    },
    {
      name: 'advertiserId',
      label: 'Advertiser ID',
      description: 'ID of the ad account that owns the audiences',
      type: 'Text',
      required: true,
      readonly: false,
    },
  ],
  recordFields: [
    {
      name: 'email',
      description: 'E-mail address of the person',
      required: false,
      normalise: 'email',
      hashed: ['sha256'],
      oneOf: 'identifier',
      synonyms: ['emailaddress', 'mail', 'em'],
    },
  ],
  /** Times, in Unix seconds: 1 September 2026, 8:00 and 19 September 2026, 0:00 UTC. */
  createdTime: 1788249600,
  updatedTime: 1789776000,
} as const
