package main

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/server/version"
	"github.com/temporalio/ui-server/v2/ui"
)

const uiVersion = version.UIVersion

// uiSettings is what the file of -ui holds, as JSON.
type uiSettings struct {
	Host          string `json:"host"`
	Port          int    `json:"port"`
	ServerAddress string `json:"serverAddress"`
	ServerName    string `json:"serverName"`
	CAFile        string `json:"caFile"`
	CertFile      string `json:"certFile"`
	KeyFile       string `json:"keyFile"`
	Namespace     string `json:"namespace"`
	// Token lets a browser or a program in.
	Token string `json:"token"`
	// CodecURL is the endpoint that decrypts payloads, CodecToken what it wants to see.
	CodecURL   string `json:"codecUrl"`
	CodecToken string `json:"codecToken"`
}

func newUI(file string) (*http.Server, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var settings uiSettings
	if err := json.Unmarshal(text, &settings); err != nil {
		return nil, err
	}
	pages, err := newPages(settings)
	if err != nil {
		return nil, err
	}
	codec, err := newCodec(settings)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/codec/", codec)
	mux.Handle("/", pages)
	address := net.JoinHostPort(settings.Host, strconv.Itoa(settings.Port))
	return &http.Server{
		Addr:              address,
		Handler:           guard{token: settings.Token, host: settings.Host, next: mux},
		ReadHeaderTimeout: 10 * time.Second,
	}, nil
}

// newPages puts the official UI together as its own server does, without logins and other origins.
func newPages(settings uiSettings) (http.Handler, error) {
	provider, err := config.NewConfigProviderWithRefresh(&config.Config{
		Host:                settings.Host,
		Port:                settings.Port,
		TemporalGRPCAddress: settings.ServerAddress,
		EnableUI:            true,
		DefaultNamespace:    settings.Namespace,
		DisableNewsFetch:    true,
		HideLogs:            true,
		Codec:               config.Codec{Endpoint: fmt.Sprintf("http://%s:%d/codec", settings.Host, settings.Port)},
		CORS:                config.CORS{CookieInsecure: true},
		TLS: config.TLS{
			CaFile:                 settings.CAFile,
			CertFile:               settings.CertFile,
			KeyFile:                settings.KeyFile,
			ServerName:             settings.ServerName,
			EnableHostVerification: settings.CAFile != "",
		},
	})
	if err != nil {
		return nil, err
	}
	assets, err := ui.Assets()
	if err != nil {
		return nil, err
	}
	if assets, err = fs.Sub(assets, "local"); err != nil {
		return nil, err
	}
	e := echo.New()
	e.Use(middleware.Recover())
	e.Use(middleware.Gzip())
	e.Use(middleware.Secure())
	e.Use(csrf.EnsureTokenCookie(false))
	e.Use(middleware.CSRFWithConfig(csrf.MiddlewareConfig(provider, false)))
	route.SetHealthRoute(e)
	if err := route.SetAPIRoutes(e, provider, nil); err != nil {
		return nil, err
	}
	route.SetAuthRoutes(e, provider)
	if err := route.SetUIRoutes(e, "", assets); err != nil {
		return nil, err
	}
	route.SetRenderRoute(e, "")
	return e, nil
}

// newCodec hands what a browser wants decrypted on to the API: the browser needs no token of its own for that.
func newCodec(settings uiSettings) (http.Handler, error) {
	target, err := url.Parse(settings.CodecURL)
	if err != nil {
		return nil, err
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, target.Host
		r.Out.Header.Del("Cookie")
		r.Out.Header.Del("Origin")
		r.Out.Header.Set("Authorization", "Bearer "+settings.CodecToken)
	}}
	return proxy, nil
}

const cookieName = "flotilla_temporal_ui"

// guard lets in who has the token: by the address that was printed, by the cookie that this sets, or as a bearer token.
type guard struct {
	token, host string
	next        http.Handler
}

func (g guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A name of somebody else that leads here would make a browser take them for us. The port may be one that leads here.
	name, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		name, port = r.Host, "80"
	}
	if name == "localhost" {
		// Cookie and codec endpoint are of the address.
		http.Redirect(w, r, "http://"+net.JoinHostPort(g.host, port)+r.URL.RequestURI(), http.StatusTemporaryRedirect)
		return
	}
	if name != g.host {
		http.Error(w, "This address is not known here.", http.StatusMisdirectedRequest)
		return
	}
	if given := r.URL.Query().Get("token"); given != "" && g.is(given) {
		http.SetCookie(w, &http.Cookie{
			Name: cookieName, Value: g.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
			MaxAge: 400 * 24 * 3600,
		})
		query := r.URL.Query()
		query.Del("token")
		here := url.URL{Path: r.URL.Path, RawQuery: query.Encode()}
		w.Header().Set("Referrer-Policy", "no-referrer")
		http.Redirect(w, r, here.String(), http.StatusSeeOther)
		return
	}
	if !g.admits(r) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "Open the address of the Temporal UI that Flotilla prints when it starts: it has the token.", http.StatusUnauthorized)
		return
	}
	g.next.ServeHTTP(w, r)
}

func (g guard) admits(r *http.Request) bool {
	if g.is(bearer(r)) {
		// It is not one that the server knows.
		r.Header.Del("Authorization")
		return true
	}
	for _, cookie := range r.CookiesNamed(cookieName) {
		if g.is(cookie.Value) {
			return true
		}
	}
	return false
}

func (g guard) is(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(g.token)) == 1
}

func bearer(r *http.Request) string {
	const scheme = "Bearer "
	value := r.Header.Get("Authorization")
	if len(value) <= len(scheme) || value[:len(scheme)] != scheme {
		return ""
	}
	return value[len(scheme):]
}
