/** The first parts of the addresses of the console's pages. The service answers each, and all beneath it, with the console. */
export const pageRoots = [
  'sign-in',
  'accept-invitation',
  'forgot-password',
  'reset-password',
  'accounts',
  'connections',
  'reports',
  'deleted',
  'api-keys',
  'webhooks',
  'people',
  'sign-in-settings',
  'branding',
  'profile',
  'audit',
  'alerts',
] as const
